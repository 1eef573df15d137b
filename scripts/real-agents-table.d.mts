export interface Report {
  testResults: {
    assertionResults: {
      ancestorTitles: string[];
      title: string;
      status: string;
      meta: { agent?: string; told?: string };
    }[];
  }[];
}
export const TABLE_FILE: string;
export function withColumns(page: string, report: Report, names: string[]): string;
export function differences(page: string, report: Report, names: string[]): string[];
