/** Writes; where the reader is slow, resolves when it has caught up or is gone. */
export function print(stream: NodeJS.WriteStream, text: string): Promise<void> | undefined {
  if (stream.destroyed || stream.write(text)) return undefined;
  return new Promise((resolve) => {
    const done = (): void => {
      for (const name of ENDINGS) stream.off(name, done);
      resolve();
    };
    for (const name of ENDINGS) stream.once(name, done);
  });
}

const ENDINGS = ["drain", "close", "error"] as const;
