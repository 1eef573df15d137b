/** Where a stream of several has arrived: at an event, or at its end. */
type Arrival<Event> = { name: string; step: IteratorResult<Event, void> } | { name: string; error: unknown };

/** Several streams of events as one, in the order in which the events happen. */
export function createStreams<Event>() {
  const open = new Map<string, AsyncGenerator<Event, void>>();
  const arrived: Arrival<Event>[] = [];
  let wake = (): void => {};
  const goOn = (name: string): void => {
    const tell = (arrival: Arrival<Event>): void => {
      arrived.push(arrival);
      wake();
    };
    open
      .get(name)
      ?.next()
      .then(
        (step) => tell({ name, step }),
        (error: unknown) => tell({ name, error }),
      );
  };
  return {
    size: () => open.size,
    names: () => [...open.keys()],
    add(name: string, stream: AsyncGenerator<Event, void>): void {
      open.set(name, stream);
      goOn(name);
    },
    /** The next event of any of them; undefined: one has ended, or the time is up. Its stream waits for `goOn`. */
    async next(waitMs: number): Promise<{ name: string; event: Event } | undefined> {
      if (arrived.length === 0) await new Promise<void>((resolve) => waitFor(resolve, waitMs));
      const arrival = arrived.shift();
      if (arrival === undefined) return undefined;
      const { name } = arrival;
      if ("error" in arrival) {
        open.delete(name);
        throw arrival.error;
      }
      if (!arrival.step.done) return { name, event: arrival.step.value };
      open.delete(name);
      return undefined;
    },
    goOn,
    /** Ends those that are left. */
    async close(): Promise<void> {
      await Promise.allSettled([...open.values()].map((stream) => stream.return()));
    },
  };

  function waitFor(resolve: () => void, waitMs: number): void {
    const timer = setTimeout(resolve, waitMs);
    wake = () => {
      clearTimeout(timer);
      resolve();
    };
  }
}

/** The events that an action tells while it lasts. `tell` resolves when its event was taken. */
export async function* told<Event, Result>(
  action: (tell: (event: Event) => Promise<void>) => Promise<Result>,
): AsyncGenerator<Event, Result> {
  const waiting: { event: Event; taken(): void }[] = [];
  let wake = (): void => {};
  let isOver = false;
  const result = action(
    (event) =>
      new Promise<void>((taken) => {
        waiting.push({ event, taken });
        wake();
      }),
  ).finally(() => {
    isOver = true;
    wake();
  });
  // It is awaited below, when all that it told was taken.
  result.catch(() => {});
  for (;;) {
    const next = waiting.shift();
    if (next !== undefined) {
      yield next.event;
      next.taken();
    } else if (isOver) return await result;
    else
      await new Promise<void>((resolve) => {
        wake = resolve;
        if (waiting.length > 0 || isOver) resolve();
      });
  }
}

/** So many may work at the same time; the others wait in their order. Each has a number that no other one has. */
export function createSlots(count: number) {
  const free = [...Array(count).keys()];
  const waiting: ((slot: number) => void)[] = [];
  return {
    areFree: () => free.length > 0,
    take(): Promise<number> {
      const slot = free.shift();
      if (slot !== undefined) return Promise.resolve(slot);
      return new Promise((resolve) => waiting.push(resolve));
    },
    give(slot: number): void {
      const next = waiting.shift();
      if (next === undefined) free.push(slot);
      free.sort((a, b) => a - b);
      next?.(slot);
    },
  };
}
