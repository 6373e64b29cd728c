/** Capabilities as Firestore keeps them. */
import { z } from 'zod';
import { jsonObject } from '../../domain/json.ts';
import { folded, prefixesOf } from '../../domain/search.ts';
import type { OfferedSkill } from '../../domain/system/readers.ts';
import type { CapabilitySkill } from '../../domain/system/skill.ts';

const skillDocument = z.object({
  id: z.string(),
  name: z.string(),
  category: z.string(),
  /** As text: Firestore has no arrays in arrays, and field names of its own. */
  parameters: z.string().nullable(),
  version: z.string(),
  author: z.string(),
  /** How many agents have it. It is deprecated where none has. */
  agents: z.int(),
});

type StoredSkill = Omit<z.output<typeof skillDocument>, 'agents'>;

/** What queries go by, and nothing reads. */
interface QueriedFields {
  readonly name_folded: string;
  readonly category_folded: string;
  readonly prefixes: readonly string[];
}

/** All but the count, which is added to. */
export function skillToDocument(skill: CapabilitySkill): StoredSkill & QueriedFields {
  const { id, name, category, parameters, version, author } = skill;
  return {
    ...{ id, name, category, version, author },
    parameters: parameters ? JSON.stringify(parameters) : null,
    name_folded: folded(name),
    category_folded: folded(category),
    prefixes: prefixesOf(name),
  };
}

export function skillFromDocument(data: unknown): OfferedSkill {
  const { parameters, ...stored } = skillDocument.parse(data);
  return {
    ...stored,
    ...(parameters !== null && { parameters: jsonObject.parse(JSON.parse(parameters)) }),
  };
}
