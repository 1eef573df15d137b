/** A short word that is the same for the same text. */
export async function digest(text: string): Promise<string> {
  // Loaded when needed: most runs never fail in a way that has to be compared.
  const { createHash } = await import("node:crypto");
  return createHash("sha1").update(text).digest("hex");
}
