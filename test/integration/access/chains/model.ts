/**
 * What each link of a chain may do, by the rule alone: it stands as long as everything that it came from, and opens
 * what all of that opens now.
 */

/** Weakest first. */
export const ROLES = ['viewer', 'worker', 'leader'] as const;

export type Role = (typeof ROLES)[number];

/** The toolsets by which the chains are narrowed. */
export const TOOLSETS = ['onboarding', 'firebase', 'coordination', 'access'] as const;

/** Workspaces that a link may be held to: that of the calls, and another. */
export type Held = 'here' | 'elsewhere';

/** What a link is given, or asks for. */
export interface Choice {
  readonly role: Role;
  /** All where undefined. */
  readonly toolsets?: readonly string[] | undefined;
  readonly heldTo?: Held | undefined;
  readonly readonly: boolean;
}

export interface Link {
  readonly name: string;
  readonly kind: 'person' | 'app' | 'key' | 'terminal' | 'invitation';
  readonly from: Link | undefined;
  /** What it opens by itself. */
  own: Choice;
  isRevoked: boolean;
}

/** How far a link is from its person. */
export function depthOf({ from }: Link): number {
  return from === undefined ? 0 : depthOf(from) + 1;
}

/** The link, and what it came from, outermost first. */
export function chainOf(link: Link): readonly Link[] {
  return link.from === undefined ? [link] : [...chainOf(link.from), link];
}

/** Returns what a link opens now; undefined if it is out. */
export function rightsOf(link: Link): Choice | undefined {
  const chain = chainOf(link);
  if (chain.some(({ isRevoked }) => isRevoked)) return undefined;
  return chain
    .map(({ own }): Choice | undefined => own)
    .reduce((rights, own) => rights && own && both(rights, own));
}

/** What two choices both allow; undefined if they are held to different workspaces. */
export function both(one: Choice, other: Choice): Choice | undefined {
  const held = new Set([one, other].flatMap(({ heldTo }) => heldTo ?? []));
  if (held.size > 1) return undefined;
  const lists = [one, other].flatMap(({ toolsets }) => (toolsets ? [toolsets] : []));
  return {
    role: weakest([one.role, other.role]),
    toolsets:
      lists.length === 0 ? undefined : TOOLSETS.filter((name) => lists.every((list) => list.includes(name))),
    heldTo: [...held][0],
    readonly: one.readonly || other.readonly,
  };
}

export function weakest(roles: readonly Role[]): Role {
  return ROLES.find((role) => roles.includes(role)) ?? 'viewer';
}

/** What a link is tried with. */
export interface Attempt {
  readonly toolset: (typeof TOOLSETS)[number];
  readonly least: Role;
  readonly writes: boolean;
}

/** Whether a link may do something in the workspace of the calls. */
export function may(link: Link, { toolset, least, writes }: Attempt): boolean {
  const rights = rightsOf(link);
  return (
    rights !== undefined &&
    rights.heldTo !== 'elsewhere' &&
    ROLES.indexOf(rights.role) >= ROLES.indexOf(least) &&
    (rights.toolsets?.includes(toolset) ?? true) &&
    !(writes && rights.readonly)
  );
}
