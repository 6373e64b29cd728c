/**
 * Shows text by people and agents as plain text, never as markup. Hidden characters are made visible. Only https
 * addresses become links, which show the host of their target.
 */
import type { ComponentChildren } from 'preact';
import { userText as messages } from '../text/common.ts';
import { plural } from './format.ts';
import { hostOf, piecesOf, type TextPiece } from './textPieces.ts';

/** Returns the code point that is shown instead of a hidden character: `U+202E`. */
function codePointOf(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
}

interface UserTextProps {
  readonly text: string;
  /** Set to false if the text is inside a link, because links cannot contain links. */
  readonly links?: boolean;
  /** Maximum number of characters. A longer text is cut, with a note. */
  readonly limit?: number;
}

export function UserText({ text, links = false, limit = 20_000 }: UserTextProps) {
  const shown = text.length > limit ? text.slice(0, limit) : text;
  return (
    <bdi>
      {piecesOf(shown).map((piece) => shownPiece(piece, links))}
      {text.length > limit && <span class="soft">{` ${plural(text.length - limit, messages.moreCharacters)}`}</span>}
    </bdi>
  );
}

function shownPiece({ kind, text }: TextPiece, links: boolean): ComponentChildren {
  if (kind === 'unseen') {
    return (
      <span class="unseen" title={messages.invisible}>
        {codePointOf(text)}
      </span>
    );
  }
  return kind === 'link' && links ? <ExternalLink address={text} /> : text;
}

/** External link that shows its target's host. */
export function ExternalLink({
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
