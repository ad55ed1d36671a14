/**
 * A value as the graph writes it, with its digits grouped: 290403000000 DKK reads as 290,403,000,000 DKK.
 * Short whole numbers stay, for they may be years.
 */
export function groupDigits(label: string): string {
  const match = /^(-?)(\d{5,15})(\.\d+)?(?=$|\s)/.exec(label);
  if (!match || (match[2] ?? "").startsWith("0")) return label;
  const [whole, sign = "", digits = "", rest = ""] = match;
  return `${sign}${Number(digits).toLocaleString("en")}${rest}${label.slice(whole.length)}`;
}
