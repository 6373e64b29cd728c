/** How much of its context a model needs to read something. */
import { encode } from 'gpt-tokenizer/encoding/o200k_base';

/** @returns tokens by the encoding o200k */
export function tokensOf(text: string): number {
  return encode(text).length;
}
