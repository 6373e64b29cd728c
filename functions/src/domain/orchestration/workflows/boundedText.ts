/** A text that grows piece by piece and is refused as soon as it is too long, before the next piece is made. */
import { TemplateError } from './templateParts.ts';

/** The most characters that a prompt may become. */
export const MAX_PROMPT_LENGTH = 800_000;

export class BoundedText {
  private readonly pieces: string[] = [];
  private characters = 0;

  /**
   * @param what names the piece where it is one too many
   * @throws TemplateError
   */
  add(piece: string, what: string): void {
    this.characters += piece.length;
    if (this.characters > MAX_PROMPT_LENGTH)
      throw new TemplateError(`With ${what}, it would have more than ${MAX_PROMPT_LENGTH} characters.`);
    this.pieces.push(piece);
  }

  toString(): string {
    return this.pieces.join('');
  }
}
