/** Counts the tokens of a text in a model's context. */
import { encode } from 'gpt-tokenizer/encoding/o200k_base';

/** Returns the number of tokens in the encoding o200k_base. */
export const tokensOf = (text: string): number => encode(text).length;
