import { type ComponentChildren, Fragment } from 'preact';

interface FillProps {
  readonly text: string;
  /** For each `{name}` in the text, its replacement. */
  readonly with: Readonly<Record<string, ComponentChildren>>;
}

/** A text with elements in place of its `{names}`, so that a translation can put them in another order. */
export function Fill({ text, with: parts }: FillProps) {
  return (
    <>
      {text.split(/\{(\w+)\}/).map((piece, index) => (
        // The pieces of a text do not move.
        <Fragment key={index}>{index % 2 === 0 ? piece : parts[piece]}</Fragment>
      ))}
    </>
  );
}
