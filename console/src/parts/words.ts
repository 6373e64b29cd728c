/** Finds in texts of others what cannot be seen, and what leads away. */

/** Controls but for tab and line break, and the marks that turn or hide text. */
const UNSEEN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is sought.
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;

const ADDRESS = /https:\/\/[^\s<>"'`\\]+/g;

export interface Piece {
  readonly kind: 'text' | 'unseen' | 'link';
  readonly text: string;
}

/** A text in its pieces. Pure, so that a test can send it whatever it likes. */
export function piecesOf(text: string): readonly Piece[] {
  return cut(text, ADDRESS, 'link')
    .flatMap((piece) =>
      piece.kind === 'link' && hostOf(piece.text) === undefined ? { ...piece, kind: 'text' as const } : piece,
    )
    .flatMap((piece) => (piece.kind === 'text' ? cut(piece.text, UNSEEN, 'unseen') : piece));
}

function cut(text: string, pattern: RegExp, kind: Piece['kind']): readonly Piece[] {
  const pieces: Piece[] = [];
  let end = 0;
  for (const { index, 0: found } of text.matchAll(pattern)) {
    if (index > end) pieces.push({ kind: 'text', text: text.slice(end, index) });
    pieces.push({ kind, text: found });
    end = index + found.length;
  }
  if (end < text.length) pieces.push({ kind: 'text', text: text.slice(end) });
  return pieces;
}

/** Undefined for what is no address that a person should be led to. */
export function hostOf(address: string): string | undefined {
  try {
    const { protocol, host, username, password } = new URL(address);
    return protocol === 'https:' && username === '' && password === '' ? host : undefined;
  } catch {
    return undefined;
  }
}
