/**
 * Words that others have written. All of it is text, never markup: what cannot be seen, or turns the direction of what
 * can, is made visible, and only addresses of https become links, which say whose they are.
 */
import type { ComponentChildren } from 'preact';
import { hostOf, type Piece, piecesOf } from './words.ts';

/** `U+202E`, which is all that can be shown of what cannot be seen. */
function codePointOf(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
}

interface WordsProps {
  readonly text: string;
  /** Inside of a link there are none. */
  readonly links?: boolean;
  /** Longer than this it is cut, and says so. */
  readonly most?: number;
}

export function Words({ text, links = false, most = 20_000 }: WordsProps) {
  const shown = text.length > most ? text.slice(0, most) : text;
  return (
    <bdi>
      {piecesOf(shown).map((piece) => shownPiece(piece, links))}
      {text.length > most && <span class="soft">{` … and ${text.length - most} characters more`}</span>}
    </bdi>
  );
}

function shownPiece({ kind, text }: Piece, links: boolean): ComponentChildren {
  if (kind === 'unseen') {
    return (
      <span class="unseen" title="A character that cannot be seen">
        {codePointOf(text)}
      </span>
    );
  }
  return kind === 'link' && links ? <Away address={text} /> : text;
}

/** A link that leads away from the page, and says whereto. */
export function Away({
  address,
  children,
}: {
  readonly address: string;
  readonly children?: ComponentChildren;
}) {
  const host = hostOf(address);
  if (host === undefined) return <>{children ?? address}</>;
  return (
    <a href={address} target="_blank" rel="noopener noreferrer nofollow">
      {children ?? address}
      {children !== undefined && <span class="soft">{` (${host})`}</span>}
    </a>
  );
}
