import { isDeepStrictEqual } from "node:util";
import type { Story, TaskList } from "./tasks.js";

type Named = Partial<Pick<Story, "id" | "title" | "description" | "acceptanceCriteria">>;

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

/** Whether one of the stories is in both, perhaps under another title. */
export function isSameList(now: Named[], { userStories }: TaskList): boolean {
  return now.some((story) => userStories.some((old) => old.id === story.id && isSameStory(story, old)));
}

function isSameStory({ title, description, acceptanceCriteria }: Named, old: Story): boolean {
  if (title === old.title) return true;
  return (
    Boolean(description) &&
    isDeepStrictEqual([description, acceptanceCriteria], [old.description, old.acceptanceCriteria])
  );
}
