/** Something that stands in the way of stopping, in the words that the agent is told. */
export interface Finding {
  /** 1: the list itself. 2: what must hold at any time. 2.5: what this iteration may change. 3: not committed. */
  check: 1 | 2 | 2.5 | 3;
  message: string;
  story?: string;
  /** Set where it is about another file than tasks.json. */
  file?: string;
  /** Set where the list is still sound but for this: the field of the story can be put back. */
  field?: string;
}
