/** Holds tools to `kernel/ids.ts`: what an argument calls an id is one, or the tool does not compile. */

import type { z } from 'zod';

/** How arguments are called that are ids. */
type IdName = `${string}_id` | `${string}_ids` | `${string}Id` | `${string}Ids`;

/** An id of GitHub's, which GitHub judges. */
type ForeignName = 'workflow_id';

type IsPlainText<Value> = string extends (Value extends readonly (infer Each)[] ? Each : Value)
  ? true
  : false;

/** The arguments that are called ids and that `kernel/ids.ts` has not looked at. */
type PlainIds<Arguments> = {
  [Name in keyof Arguments]-?: Name extends Exclude<keyof Arguments & IdName, ForeignName>
    ? IsPlainText<NonNullable<Arguments[Name]>> extends true
      ? Name
      : never
    : never;
}[keyof Arguments];

/** Nothing more, or what no schema has: its error names the arguments. */
export type WithBrandedIds<Input extends z.ZodObject> = [PlainIds<z.output<Input>>] extends [never]
  ? unknown
  : { readonly 'takes ids as plain text': PlainIds<z.output<Input>> };
