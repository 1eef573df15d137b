import type { Report } from "./model.js";
export function htmlReport(report: Report): string {
  return JSON.stringify(report);
}
