/** Adds members to a JSON text. All other bytes of the text are preserved. */
import { isDeepStrictEqual } from 'node:util';
import { getNodeValue, type Node, type ParseError, parseTree, printParseErrorCode, visit } from 'jsonc-parser';
import { Mistake } from '../mistake.ts';

/** Extensions of JSON that a client accepts in its file. */
export interface Leniency {
  readonly comments: boolean;
  readonly trailingCommas: boolean;
}

/** JSON text with the extensions that one client accepts. An empty text is treated as an empty object. */
export class JsonText {
  private text: string;
  private readonly leniency: Leniency;
  private readonly unit: string;
  private readonly newline: string;

  /** @throws Mistake if the text is invalid or is not an object */
  constructor(text: string, leniency: Leniency) {
    this.text = text;
    this.leniency = leniency;
    this.unit = /^([ \t]+)["\]}]/m.exec(text)?.[1] ?? '  ';
    this.newline = text.includes('\r\n') ? '\r\n' : '\n';
    if (this.root() === undefined) this.text = `${withEnd(text, this.newline)}{}${this.newline}`;
    if (this.root()?.type !== 'object') throw new Mistake('the file must contain a JSON object');
  }

  toString(): string {
    return this.text;
  }

  /** Returns whether the text has a member at a path. */
  has(path: readonly string[]): boolean {
    return path.reduce((object: Node | undefined, key) => member(object, key), this.root()) !== undefined;
  }

  /**
   * Sets a member and creates missing objects on its path. A new member is added after the existing members. A member
   * that already has the value keeps its format and its comments.
   * @throws Mistake if a value on the path is not an object
   */
  set(path: readonly string[], value: unknown): void {
    let object = this.root();
    for (const [depth, key] of path.entries()) {
      const held = member(object, key);
      const rest = path.slice(depth + 1);
      if (held === undefined) {
        const added = rest.reduceRight<unknown>((inner, name) => ({ [name]: inner }), value);
        if (object !== undefined) this.append(object, `${JSON.stringify(key)}: `, added);
        return;
      }
      if (rest.length === 0) {
        if (!isDeepStrictEqual(structuredClone(getNodeValue(held)), value)) this.replace(held, value);
        return;
      }
      if (held.type !== 'object') throw new Mistake(`"${key}" is not an object`);
      object = held;
    }
  }

  /**
   * Adds an element to the list at a key, unless the list has an element with the same id.
   * @throws Mistake if the value of the key is not a list of objects
   */
  addTo(key: string, element: Readonly<Record<string, unknown>>): void {
    const list = member(this.root(), key);
    if (list === undefined) {
      this.set([key], [element]);
      return;
    }
    const others = list.type === 'array' ? (list.children ?? []) : undefined;
    if (others?.every(({ type }) => type === 'object') !== true) throw new Mistake(`"${key}" is not a list of objects`);
    if (!others.some((other) => member(other, 'id')?.value === element['id'])) this.append(list, '', element);
  }

  /** Returns undefined if the text has no value. @throws Mistake if the text is invalid */
  private root(): Node | undefined {
    const errors: ParseError[] = [];
    const root = parseTree(this.text, errors, {
      disallowComments: !this.leniency.comments,
      allowTrailingComma: this.leniency.trailingCommas,
      allowEmptyContent: true,
    });
    const [first] = errors;
    if (first === undefined) return root;
    const line = this.text.slice(0, first.offset).split('\n').length;
    throw new Mistake(`line ${line}: ${printParseErrorCode(first.error)}`);
  }

  private replace({ offset, length }: Node, value: unknown): void {
    const end = offset + length;
    const isSpread = this.text.slice(offset, end).includes('\n');
    this.splice(offset, end, this.shown(value, this.indentAt(offset), isSpread));
  }

  /** Adds a value at the end of an object or list, after all comments. @param label the key with a colon, or empty */
  private append({ offset, length, children = [] }: Node, label: string, value: unknown): void {
    const close = offset + length - 1;
    const last = children.at(-1);
    const lastEnd = last === undefined ? offset + 1 : last.offset + last.length;
    const { end, hasComma } = this.between(lastEnd, close);
    const outer = this.indentAt(offset);
    const inner = last === undefined ? outer + this.unit : this.indentAt(last.offset);
    const isSpread = last === undefined || this.text.slice(offset, close).includes('\n');
    const closing = last === undefined && !this.text.slice(end, close).includes('\n') ? this.newline + outer : '';
    const start = isSpread ? this.newline + inner : ' ';
    this.splice(end, end, start + label + this.shown(value, inner, isSpread) + closing);
    // The comma is added directly after the last value, before any comments.
    if (last !== undefined && !hasComma) this.splice(lastEnd, lastEnd, ',');
  }

  /** Returns whether a range between values contains a comma, and where its last comma or comment ends. */
  private between(from: number, to: number): { end: number; hasComma: boolean } {
    const found = { end: from, hasComma: false };
    const isBetween = (offset: number) => offset >= from && offset < to;
    visit(
      this.text,
      {
        onSeparator(_, offset, length) {
          if (isBetween(offset)) Object.assign(found, { end: offset + length, hasComma: true });
        },
        onComment(offset, length) {
          if (isBetween(offset)) found.end = offset + length;
        },
      },
      { allowTrailingComma: true },
    );
    return found;
  }

  private shown(value: unknown, indent: string, isSpread: boolean): string {
    if (!isSpread) return JSON.stringify(value);
    return JSON.stringify(value, null, this.unit).replaceAll('\n', this.newline + indent);
  }

  private indentAt(position: number): string {
    const start = this.text.lastIndexOf('\n', position - 1) + 1;
    return /^[ \t]*/.exec(this.text.slice(start, position))?.[0] ?? '';
  }

  private splice(from: number, to: number, text: string): void {
    this.text = this.text.slice(0, from) + text + this.text.slice(to);
  }
}

/** Returns the value of a key in an object. If the key is repeated, returns the last value, as clients do. */
function member(object: Node | undefined, key: string): Node | undefined {
  if (object?.type !== 'object') return undefined;
  return object.children?.findLast(({ children }) => children?.[0]?.value === key)?.children?.[1];
}

function withEnd(text: string, newline: string): string {
  return text === '' || text.endsWith('\n') ? text : text + newline;
}
