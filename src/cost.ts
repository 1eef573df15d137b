/** To the millionth of a dollar: 0.1 and 0.05 are 0.15, and not 0.15000000000000002. */
export function sumOfCosts(one: number | null = null, other: number | null = null): number {
  return Number(((one ?? 0) + (other ?? 0)).toFixed(6));
}
