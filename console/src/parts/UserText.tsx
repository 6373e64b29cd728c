/**
 * Text written by people and agents, always as text, never as markup. Invisible and reordering characters are made
 * visible. Only https addresses become links, which show their host.
 */
import type { ComponentChildren } from 'preact';
import { hostOf, piecesOf, type TextPiece } from './textPieces.ts';

/** `U+202E`, in place of an invisible character. */
function codePointOf(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
}

interface UserTextProps {
  readonly text: string;
  /** Links cannot contain links. */
  readonly links?: boolean;
  /** Longer texts are truncated, with a note. */
  readonly most?: number;
}

export function UserText({ text, links = false, most: max = 20_000 }: UserTextProps) {
  const shown = text.length > max ? text.slice(0, max) : text;
  return (
    <bdi>
      {piecesOf(shown).map((piece) => shownPiece(piece, links))}
      {text.length > max && <span class="soft">{` … and ${text.length - max} characters more`}</span>}
    </bdi>
  );
}

function shownPiece({ kind, text }: TextPiece, links: boolean): ComponentChildren {
  if (kind === 'unseen') {
    return (
      <span class="unseen" title="A character that cannot be seen">
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
