/** Capabilities as Firestore keeps them. */
import { z } from 'zod';
import { folded, prefixesOf } from '../../domain/search.ts';
import type { OfferedSkill } from '../../domain/system/readers.ts';
import type { CapabilitySkill } from '../../domain/system/skill.ts';
import { type DocumentCodec, documentCodec, jsonText } from './codec.ts';

const described = z.object({
  id: z.string(),
  name: z.string(),
  category: z.string(),
  parameters: jsonText.nullable(),
  version: z.string(),
  author: z.string(),
});

const codec: DocumentCodec<CapabilitySkill> = documentCodec(described);

/** All but the count, which is added to, and with what queries go by. */
export function skillToDocument(skill: CapabilitySkill): Record<string, unknown> {
  return {
    ...codec.toDocument(skill),
    name_folded: folded(skill.name),
    category_folded: folded(skill.category),
    prefixes: prefixesOf(skill.name),
  };
}

/** `agents`: how many agents have it. It is deprecated where none has. */
export const { fromDocument: skillFromDocument }: DocumentCodec<OfferedSkill> = documentCodec(
  described.extend({ agents: z.int() }),
);
