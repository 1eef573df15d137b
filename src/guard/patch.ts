const HEADER = /^[^\S\n]*\*\*\*[^\S\n]*(?:Add File|Update File|Delete File|Move to):[^\S\n]*(\S.*)$/gm;

/** The files that a patch in the form of Codex touches. */
export function patchedPaths(patch: string): string[] {
  return [...patch.matchAll(HEADER)].map(([, path = ""]) => path.trim());
}
