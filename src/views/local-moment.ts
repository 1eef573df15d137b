/** `16:01`, on another day `Nov 16, 05:01`: what a clock on the wall will show. */
export function localMoment(at: string, seenFrom: string): string {
  const [moment, now] = [new Date(at), new Date(seenFrom)];
  if (Number.isNaN(moment.getTime())) return at;
  const time = `${two(moment.getHours())}:${two(moment.getMinutes())}`;
  if (moment.toDateString() === now.toDateString()) return time;
  return `${MONTHS[moment.getMonth()]} ${moment.getDate()}, ${time}`;
}

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

function two(number: number): string {
  return String(number).padStart(2, "0");
}
