/** Runs in a page: the lowest contrast of a text that can be seen, as WCAG computes it, and that text. */
export const LOWEST_CONTRAST = `(() => {
  for (const details of document.querySelectorAll("details")) details.open = true;
  const channels = (color) => (color.match(/[\\d.]+/g) ?? []).map(Number);
  const linear = (value) => (value / 255 <= 0.04045 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4);
  const luminance = ([r, g, b]) => 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
  const background = (element) => {
    for (let at = element; at !== null; at = at.parentElement) {
      const color = channels(getComputedStyle(at).backgroundColor);
      if (color[3] !== 0) return color;
    }
    throw new Error("no background");
  };
  const contrast = (element) => {
    const style = getComputedStyle(element);
    const text = channels(element instanceof SVGElement ? style.fill : style.color);
    const [light, dark] = [luminance(text), luminance(background(element))].sort((a, b) => b - a);
    return (light + 0.05) / (dark + 0.05);
  };
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const found = [];
  while (texts.nextNode()) {
    const element = texts.currentNode.parentElement;
    const text = texts.currentNode.textContent.trim();
    const isSeen = text !== "" && element.checkVisibility() && element.closest(".hidden, title") === null;
    if (isSeen) found.push({ text: text.slice(0, 40), contrast: contrast(element) });
  }
  return found.sort((a, b) => a.contrast - b.contrast)[0];
})()`;
