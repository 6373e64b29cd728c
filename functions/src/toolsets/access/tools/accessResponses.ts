/** Arguments and outputs shared by several access tools. */
import { z } from 'zod';
import { DEFAULT_PROOF } from '../../../access/rules/proofSettings.ts';
import { WORKSPACE_FORM, WORKSPACE_NAME } from '../../../identity/rules/principal.ts';
import { MEMBER_ROLES, ROLES, WORKSPACE_ACCESS } from '../../../identity/rules/role.ts';
import { idLike } from '../../../kernel/ids.ts';
import { decodeCursor, encodeCursor } from '../../../kernel/paging.ts';
import { listUpTo, textUpTo, toolsFor, wholeNumber } from '../../../mcp/tool.ts';
import type { AccessServices } from '../create.ts';
import type { WorkspaceSettings } from '../rules/workspaceChanges.ts';

export const defineTool = toolsFor<AccessServices>();
export const workspaceName = idLike(WORKSPACE_NAME, WORKSPACE_FORM);
export const workspaceArgument = workspaceName.optional().describe("Default: the call's");

/** A Firebase Auth uid: any characters that are allowed in a path segment in both databases. */
export const uidArgument = idLike(/^(?!\.\.?$|__.*__$)[^/.#$[\]%{}\s\p{C}]{1,128}$/u, 'expected the uid of a person');

export const emailArgument = z
  .string()
  .refine((text) => text.length <= 254 && z.email().safeParse(text.trim()).success, 'expected an email address');

export const memberRole = z.enum(MEMBER_ROLES);
export const anyRole = z.enum(ROLES);
export const accessArgument = z.enum(WORKSPACE_ACCESS);
const MAX_REPOSITORIES = 100;
const REPOSITORY = /^[A-Za-z0-9][A-Za-z0-9-]{0,38}\/(?:\*|(?!\.\.?$)[A-Za-z0-9._-]{1,100})$/;

export const repositoriesArgument = listUpTo(
  MAX_REPOSITORIES,
  z
    .string()
    .refine((text) => REPOSITORY.test(text), 'expected "owner/name", or "owner/*" for all repositories of an owner'),
  'repositories',
);

const MAX_FORBIDDEN = 20;
const hostedAgent = textUpTo(32);
const pinned = (to: string) => hostedAgent.optional().describe(to);

export const routingArgument = z.strictObject({
  pin: z
    .strictObject({ plan: pinned('Planner'), execute: pinned('Executor'), review: pinned('Reviewer') })
    .optional()
    .describe('Pinned agents'),
  forbid: listUpTo(MAX_FORBIDDEN, hostedAgent, 'agents').optional().describe('Never used'),
});

const MAX_APPROVALS = 20;

export const approvalsArgument = listUpTo(
  MAX_APPROVALS,
  z.strictObject({
    tool: textUpTo(100).describe('github.createPR'),
    above_usd: z.number().min(0).max(10_000).optional().describe('Only if the call may cost more'),
    asks: uidArgument.optional().describe("Member's uid; default: the agent's owner"),
  }),
  'approvals',
).refine(
  (approvals) => new Set(approvals.map(({ tool }) => tool)).size === approvals.length,
  'expected each tool once',
);

const MAX_DEFAULTS = 20;
const MAX_COMMAND_LENGTH = 2000;

/** Replaces what was set before. Omitted fields get their default. */
export const proofArgument = z.strictObject({
  defaults: listUpTo(
    MAX_DEFAULTS,
    z.strictObject({
      command: textUpTo(MAX_COMMAND_LENGTH).optional().describe('Must succeed on the branch'),
      review: textUpTo(100).optional().describe("Reviewer's capability, or any"),
      confirm: z
        .union([z.literal('owner'), uidArgument])
        .optional()
        .describe("owner, or a member's uid"),
      type: textUpTo(50).optional().describe('Only for tasks of this type'),
    }),
    'defaults',
  ).describe('For new tasks that name none; the first that fits'),
  rounds: wholeNumber(1, 10).default(DEFAULT_PROOF.rounds).describe('Maximum before a person is asked'),
  hours: wholeNumber(1, 168).default(DEFAULT_PROOF.hours).describe('For each command run and review'),
  otherwise: z.enum(['ask', 'fail']).default(DEFAULT_PROOF.otherwise).describe('If a check brings no verdict'),
  terminals: z.boolean().default(DEFAULT_PROOF.terminals).describe("Terminals of the author's credential may review"),
  file_wait_minutes: wholeNumber(0, 1440)
    .default(DEFAULT_PROOF.file_wait_minutes)
    .describe('Maximum wait for files that another task holds'),
});

export const workspaceShape = z.object({
  workspace: z.string(),
  access: accessArgument,
  repositories: z.array(z.string()).describe('GitHub repositories that its members can use.'),
  routing: z
    .object({ pin: z.record(z.string(), z.string()), forbid: z.array(z.string()) })
    .optional()
    .describe('Hosted agents pinned to a kind of work, and agents that are never used. Absent if none are set.'),
  approvals: z
    .array(z.object({ tool: z.string(), above_usd: z.number().optional(), asks: z.string().optional() }))
    .optional()
    .describe('Calls that need approval.'),
  proof: z
    .object({ defaults: z.array(z.record(z.string(), z.string())) })
    .catchall(z.unknown())
    .optional()
    .describe('What the results of new tasks must fulfil.'),
  leader: z.string().optional().describe('The uid of the leader added by this call.'),
});

export function workspaceResponse({ repositories, routing, approvals, proof, ...rest }: WorkspaceSettings) {
  const { pins = [], forbidden = [] } = routing ?? {};
  const pin = Object.fromEntries(pins.map(({ kind, agent }) => [kind, agent]));
  const isRouted = pins.length > 0 || forbidden.length > 0;
  return {
    ...rest,
    repositories,
    ...(isRouted && { routing: { pin, forbid: forbidden } }),
    approvals: approvals?.map(({ tool, above_usd, asks }) => ({ tool, above_usd, asks })),
    proof: proof && { ...proof, defaults: proof.defaults.map((one) => ({ ...one })) },
  };
}

export const cursorArgument = textUpTo(4000).optional().describe('Previous next_cursor');
const SUGGESTION = 'Send next_cursor as cursor with the same arguments, or omit cursor to start over.';

/** Returns the cursor. It contains the id in encoded form, because cursors consist of letters and digits. */
export function cursorAfter(question: string, id: string): string {
  return encodeCursor(question, { order: [], id: `i${Buffer.from(id).toString('base64url')}` });
}

/** @throws MusterError INVALID_FORMAT if the cursor is invalid or belongs to another list */
export function idAfter(question: string, cursor: string | undefined): string | undefined {
  const place = decodeCursor(question, cursor, SUGGESTION);
  return place && Buffer.from(place.id.slice(1), 'base64url').toString();
}
