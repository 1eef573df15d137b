/** What has happened and was not dealt with yet, in order. */
export interface Inbox<Event> {
  add(event: Event): void;
  next(): Promise<Event>;
  isEmpty(): boolean;
}

export function createInbox<Event>(): Inbox<Event> {
  const waiting: Event[] = [];
  let wake = (): void => {};
  return {
    add(event) {
      waiting.push(event);
      wake();
    },
    async next() {
      for (;;) {
        const event = waiting.shift();
        if (event !== undefined) return event;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
    isEmpty: () => waiting.length === 0,
  };
}
