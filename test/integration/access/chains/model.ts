/**
 * Model of the rights in a chain. A link is valid as long as all links above it are valid. It never has more rights
 * than any of the links above it has at the moment.
 */

/** All roles, the weakest first. */
export const ROLES = ['viewer', 'worker', 'leader'] as const;

export type Role = (typeof ROLES)[number];

/** Toolsets to which a link may be restricted. */
export const TOOLSETS = ['onboarding', 'firebase', 'coordination', 'access'] as const;

/** Workspaces to which a link may be restricted. The test's calls are made in the workspace `here`. */
export type Held = 'here' | 'elsewhere';

/** Rights that a link has, or that are requested for it. */
export interface Choice {
  readonly role: Role;
  /** Toolsets to which the link is restricted. If undefined, the link can have all toolsets. */
  readonly toolsets?: readonly string[] | undefined;
  readonly heldTo?: Held | undefined;
  readonly readonly: boolean;
}

export interface Link {
  readonly name: string;
  readonly kind: 'person' | 'app' | 'key' | 'terminal' | 'invitation';
  readonly from: Link | undefined;
  /** Rights that were given to the link itself. The links above it may limit them. */
  own: Choice;
  isRevoked: boolean;
}

/** Returns the number of links above a link. */
export const depthOf = ({ from }: Link): number => (from === undefined ? 0 : depthOf(from) + 1);

/** Returns the link and everything above it, starting with the person. */
export function chainOf(link: Link): readonly Link[] {
  return link.from === undefined ? [link] : [...chainOf(link.from), link];
}

/** Returns the current rights of a link, or undefined if the link is revoked. */
export function rightsOf(link: Link): Choice | undefined {
  const chain = chainOf(link);
  if (chain.some(({ isRevoked }) => isRevoked)) return undefined;
  return chain.map(({ own }): Choice | undefined => own).reduce((rights, own) => rights && own && both(rights, own));
}

/** Returns the rights that both choices contain, or undefined if these are restricted to different workspaces. */
export function both(one: Choice, other: Choice): Choice | undefined {
  const held = new Set([one, other].flatMap(({ heldTo }) => heldTo ?? []));
  if (held.size > 1) return undefined;
  const lists = [one, other].flatMap(({ toolsets }) => (toolsets ? [toolsets] : []));
  return {
    role: weakest([one.role, other.role]),
    toolsets: lists.length === 0 ? undefined : TOOLSETS.filter((name) => lists.every((list) => list.includes(name))),
    heldTo: [...held][0],
    readonly: one.readonly || other.readonly,
  };
}

export function weakest(roles: readonly Role[]): Role {
  return ROLES.find((role) => roles.includes(role)) ?? 'viewer';
}

/** A call that tests the rights of a link. */
export interface Attempt {
  readonly toolset: (typeof TOOLSETS)[number];
  readonly min: Role;
  readonly writes: boolean;
}

/** Returns whether a link may make the call in the workspace `here`. */
export function may(link: Link, { toolset, min, writes }: Attempt): boolean {
  const rights = rightsOf(link);
  return (
    rights !== undefined &&
    rights.heldTo !== 'elsewhere' &&
    ROLES.indexOf(rights.role) >= ROLES.indexOf(min) &&
    (rights.toolsets?.includes(toolset) ?? true) &&
    !(writes && rights.readonly)
  );
}
