import type { Story, TaskList } from "./tasks.js";

type Named = Partial<Pick<Story, "id" | "title">>;

/** The stories in a text, sound or not; undefined: it is no JSON, or there are none. */
export function storiesIn(text: string | undefined): Named[] | undefined {
  try {
    const { userStories } = JSON.parse(text ?? "") as { userStories?: unknown };
    return Array.isArray(userStories) ? userStories.filter(isNamed) : undefined;
  } catch {
    return undefined;
  }
}

function isNamed(story: unknown): story is Named {
  return typeof story === "object" && story !== null;
}

/** Whether one of the stories is in both. */
export function isSameList(now: Named[], before: TaskList): boolean {
  const titles = new Map(before.userStories.map(({ id, title }) => [id, title]));
  return now.some(({ id, title }) => title !== undefined && titles.get(id ?? "") === title);
}
