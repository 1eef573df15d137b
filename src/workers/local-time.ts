/** `2024-01-15T10:30:00`, where the user is. */
export function localTime(date: Date): string {
  const two = (value: number): string => String(value).padStart(2, "0");
  const day = [date.getFullYear(), two(date.getMonth() + 1), two(date.getDate())].join("-");
  return `${day}T${[date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(":")}`;
}

/** The same with six digits behind the second, of which the clock knows three. */
export function localTimestamp(date: Date): string {
  return `${localTime(date)}.${String(date.getMilliseconds()).padStart(3, "0")}000`;
}
