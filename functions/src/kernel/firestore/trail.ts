/** The trail as Firestore keeps it: `trail/{id}`, an entry for the commit of a call. */

import {
  type Actor,
  AS_JSON,
  changedPart,
  type Effect,
  entryCodec,
  type Fields,
  keptEffects,
  type TrailEntry,
  thingKey,
} from '../trail.ts';

/** What the trail tells of each change. Kinds that are left out tell nothing: another of their commit does. */
export type EffectsOf<Changes> = {
  readonly [Kind in keyof Changes]?: (change: Changes[Kind]) => Effect | undefined;
};

/** By what entries are found, beside what they tell. */
export function entryToDocument(entry: TrailEntry): Record<string, unknown> {
  const effects = entry.effects.map((effect) => belonging(effect, entry.by));
  const kept = { ...entry, effects: keptEffects(effects).map(stored) };
  const workspace = effects.find((effect) => effect.workspace !== undefined)?.workspace ?? null;
  return { ...entryCodec.toDocument(kept), workspace, things: [...new Set(effects.map(thingKey))] };
}

function stored(effect: Effect): Effect {
  const { before, after, freeForm } = effect;
  if (!freeForm) return effect;
  const asJson = (state: Fields) => ({ [AS_JSON]: JSON.stringify(state) });
  return { ...effect, ...(before && { before: asJson(before) }), ...(after && { after: asJson(after) }) };
}

/** What says neither whose it is nor where is of the workspace of the call. */
function belonging(effect: Effect, { workspace }: Actor): Effect {
  const isSaid = effect.workspace !== undefined || effect.ownerUid !== undefined;
  return isSaid ? effect : { ...effect, workspace };
}

/** What the trail tells of a commit. */
export function effectsOf<Changes, Kind extends keyof Changes>(
  told: EffectsOf<Changes>,
  changes: readonly ({ readonly kind: Kind } & Changes[Kind])[],
): readonly Effect[] {
  return changes.flatMap((change) => {
    const effect = told[change.kind]?.(change);
    return (effect && changedPart(effect)) ?? [];
  });
}
