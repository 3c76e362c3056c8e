export type Headers = Readonly<Record<string, string>>;

export function headersText(headers: Headers | undefined): string {
  return headers === undefined || Object.keys(headers).length === 0 ? "" : JSON.stringify(headers);
}
