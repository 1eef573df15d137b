/** Every generated file by its path. */
export function references(): Record<string, string>;
