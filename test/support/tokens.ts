/** Number of tokens that a text takes in a model's context. */
import { encode } from 'gpt-tokenizer/encoding/o200k_base';

/** @returns tokens in the encoding o200k */
export function tokensOf(text: string): number {
  return encode(text).length;
}
