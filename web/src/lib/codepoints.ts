/**
 * A text that is addressed in Unicode code points, as the server does, while a JavaScript string counts UTF-16
 * units. Text without a surrogate pair, which is nearly all of it, is cut without any conversion.
 */
export class CodePoints {
  private readonly points: string[] | null;
  readonly length: number;

  constructor(readonly text: string) {
    this.points = /[\ud800-\udfff]/.test(text) ? Array.from(text) : null;
    this.length = this.points === null ? text.length : this.points.length;
  }

  slice(from: number, to: number): string {
    return this.points === null ? this.text.slice(from, to) : this.points.slice(from, to).join("");
  }

  at(index: number): string {
    return (this.points === null ? this.text[index] : this.points[index]) ?? "";
  }
}
