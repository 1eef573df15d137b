import { Lexer, type Token, type Tokens } from "marked";

interface DraftStory {
  id?: string;
  title: string;
  description: string;
  acceptanceCriteria: string[];
  passes: boolean;
}

/** `US-001: Add the cart` */
const NUMBERED = /^([A-Z][A-Z\d]*-\d+)\s*[:.)–—-]*\s+(\S.*)$/;

/** Each item of a checklist is a story, items below it its criteria; so are those below `US-001: …`. */
export function storiesOfChecklist(text: string, name: string) {
  const tokens = new Lexer().lex(text.replace(/^\uFEFF/, ""));
  const title = tokens.find((token) => isHeading(token) && !NUMBERED.test(plain(token.text)));
  const project = title && isHeading(title) ? plain(title.text) : name;
  const branchName = `ralph/${slug(project) || "feature"}`;
  return { project, branchName, userStories: numbered(writtenIn(tokens)) };
}

function writtenIn(tokens: Token[]): DraftStory[] {
  const stories: DraftStory[] = [];
  let open: ReturnType<typeof openedBy>;
  for (const token of tokens) {
    if (isHeading(token)) {
      const opened = openedBy(token);
      if (opened !== undefined) stories.push(opened.story);
      // A heading of the same depth ends a story.
      if (opened !== undefined || (open !== undefined && token.depth <= open.depth)) open = opened;
    } else if (open !== undefined) addTo(open.story, token);
    else if (isList(token)) stories.push(...token.items.flatMap(storyOfItem));
  }
  return stories;
}

function fresh(title: string): DraftStory {
  return { title, description: "", acceptanceCriteria: [], passes: false };
}

function openedBy({ text, depth }: Tokens.Heading) {
  const [, id, title = ""] = NUMBERED.exec(plain(text)) ?? [];
  return id === undefined ? undefined : { story: { ...fresh(title), id }, depth };
}

function storyOfItem(item: Tokens.ListItem): DraftStory[] {
  if (!item.task) return [];
  const [, id, title] = NUMBERED.exec(textOf(item)) ?? [];
  const below = item.tokens.filter(isList).flatMap(({ items }) => items.map(textOf));
  const story = { ...fresh(title ?? textOf(item)), acceptanceCriteria: below, passes: item.checked === true };
  return [{ ...story, ...(id !== undefined && { id }) }];
}

function addTo(story: DraftStory, token: Token): void {
  if (isList(token)) {
    story.acceptanceCriteria.push(...token.items.map(textOf));
    story.passes = token.items.every(({ task, checked }) => task && checked);
  }
  const text = token.type === "paragraph" ? plain((token as Tokens.Paragraph).text) : "";
  // A label such as `Acceptance criteria:` says nothing of the story.
  if (!text.endsWith(":")) story.description = [story.description, text].filter(Boolean).join(" ");
}

/** A story without a criterion is done when its title is true. */
function numbered(stories: DraftStory[]) {
  const taken = new Set(stories.map(({ id }) => id));
  let number = 0;
  const free = (): string => {
    do number += 1;
    while (taken.has(idOf(number)));
    return idOf(number);
  };
  return stories.map(({ id, acceptanceCriteria: criteria, ...story }) => {
    const acceptanceCriteria = criteria.length === 0 ? [story.title] : criteria;
    return { id: id ?? free(), ...story, acceptanceCriteria };
  });
}

/** `US-007` */
export function idOf(number: number): string {
  return `US-${String(number).padStart(3, "0")}`;
}

/** What an item says, without the items below it. */
function textOf({ tokens }: Tokens.ListItem): string {
  const own = tokens.filter(({ type }) => type === "text" || type === "paragraph");
  return plain(own.map((token) => (token as Tokens.Text).text).join(" "));
}

function plain(text: string): string {
  return text
    .replace(/\*\*|__/g, "")
    .replace(/\s+/g, " ")
    .trim();
}

export function slug(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "")
    .slice(0, 40);
}

function isHeading(token: Token): token is Tokens.Heading {
  return token.type === "heading";
}

function isList(token: Token): token is Tokens.List {
  return token.type === "list";
}
