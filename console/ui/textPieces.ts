/** Finds invisible characters and links in texts. */
import { HIDDEN_CHARACTERS } from '../../functions/src/kernel/hiddenCharacters.ts';

const ADDRESS = /https:\/\/[^\s<>"'`\\]+/g;

export interface TextPiece {
  readonly kind: 'text' | 'unseen' | 'link';
  readonly text: string;
}

/** Splits a text into plain text, hidden characters and links. */
export function piecesOf(text: string): readonly TextPiece[] {
  return cut(text, ADDRESS, 'link')
    .flatMap((piece) =>
      piece.kind === 'link' && hostOf(piece.text) === undefined ? { ...piece, kind: 'text' as const } : piece,
    )
    .flatMap((piece) => (piece.kind === 'text' ? cut(piece.text, HIDDEN_CHARACTERS, 'unseen') : piece));
}

function cut(text: string, pattern: RegExp, kind: TextPiece['kind']): readonly TextPiece[] {
  const pieces: TextPiece[] = [];
  let end = 0;
  for (const { index, 0: found } of text.matchAll(pattern)) {
    if (index > end) pieces.push({ kind: 'text', text: text.slice(end, index) });
    pieces.push({ kind, text: found });
    end = index + found.length;
  }
  if (end < text.length) pieces.push({ kind: 'text', text: text.slice(end) });
  return pieces;
}

/** Returns the host of an address; undefined if the address must not become a link. */
export function hostOf(address: string): string | undefined {
  try {
    const { protocol, host, username, password } = new URL(address);
    return protocol === 'https:' && username === '' && password === '' ? host : undefined;
  } catch {
    return undefined;
  }
}
