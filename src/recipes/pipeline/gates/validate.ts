import { errorsIn, type Finding, findingsIn } from "./finding.js";
import { linesOf, withoutCode } from "./markdown.js";
import { criteriaIn, stressTest } from "./stress-test.js";
import { ambiguityIn, whyUnmeasurable } from "./wording.js";

/** Can it be understood in one way alone, and could somebody tell whether it is done? */
export function validate(file: string, text: string): Finding[] {
  const incomplete = errorsIn(stressTest(file, text));
  if (incomplete.length > 0) {
    return incomplete.map((finding) => ({ ...finding, message: `stress-test: ${finding.message}` }));
  }
  const { error, warning } = findingsIn(file);
  const criteria = criteriaIn(text);
  const inCriteria = criteria.flatMap(({ text: criterion, line }) =>
    [ambiguityIn(criterion), whyUnmeasurable(criterion)]
      .filter((message) => message !== undefined)
      .map((message) => error(line, message)),
  );
  const first = new Set(criteria.map(({ line }) => line));
  const elsewhere = withoutCode(linesOf(text)).flatMap(({ text: content, line }) => {
    const message = first.has(line) ? undefined : ambiguityIn(content);
    return message === undefined ? [] : [warning(line, message)];
  });
  return [...inCriteria, ...elsewhere].sort((a, b) => a.line - b.line);
}
