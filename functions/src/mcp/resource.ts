/** The shape of a resource. Source: CONTRIBUTING.md#add-a-tool. */

import type { z } from 'zod';
import type { Scope } from '../identity/rules/principal.ts';
import type { Role } from '../identity/rules/role.ts';
import type { CallContext } from './callContext.ts';

/** A resource with a fixed URI. */
export interface Resource<in Services = never> {
  readonly uri: string;
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly mimeType: string;
  readonly role: Role;
  /** Where the role is needed; in the workspace of the call where it says nothing. */
  readonly scope?: Scope;
  /** The text of the resource; a JSON resource gives its serialised form. */
  read(context: CallContext<Services>): Promise<string>;
}

/** The values that a variable may have now, by what was typed. @param chosen the known values of other variables */
export type Completion<Services = never> = (
  context: CallContext<Services>,
  chosen: Readonly<Record<string, string>>,
) => Promise<readonly string[]>;

type Listed = Omit<Resource, 'uri' | 'read'>;

/** A family of resources, as its file writes it. */
interface ResourceTemplateDefinition<Services, Variables extends z.ZodObject> extends Listed {
  /** RFC 6570, level 1: `firebase://subscriptions/{subscriptionId}`. */
  readonly uriTemplate: string;
  /** Strings, one for each variable of the template. What does not match is no resource. */
  readonly variables: Variables;
  /** Whether it is one thing that loses its meaning if it is cut: it then has up to 1 MiB. */
  readonly answersWhole?: true;
  /** Whether values may have slashes that are not encoded: the URI must be plain all the same. */
  readonly slashes?: true;
  readonly complete?: Readonly<Partial<Record<keyof z.output<Variables>, Completion<Services>>>>;
  /** @throws MusterError NOT_FOUND where there is no such resource */
  read(context: CallContext<Services>, variables: z.output<Variables>): Promise<string>;
  /**
   * Yields whenever the resource has changed, at least once a change, until the context's `gone`. What has
   * changed before may be told again.
   * @throws MusterError NOT_FOUND where there is no such resource
   */
  watch?(context: CallContext<Services>, variables: z.output<Variables>): Promise<AsyncIterable<unknown>>;
}

/** One resource of a template. */
export interface BoundResource<in Services = never> {
  read(context: CallContext<Services>): Promise<string>;
  watch?(context: CallContext<Services>): Promise<AsyncIterable<unknown>>;
}

/** A template with its types erased, as the router keeps it. */
export interface ResourceTemplate<in Services = never> extends Listed {
  readonly uriTemplate: string;
  readonly answersWhole?: true;
  readonly watchable: boolean;
  readonly slashes: boolean;
  readonly completions: ReadonlyMap<string, Completion<Services>>;
  /** @returns undefined where the variables name no resource */
  bind(variables: Readonly<Record<string, string>>): BoundResource<Services> | undefined;
}

/** Returns how a toolset declares its resource templates, whose functions get these services. */
export function templatesFor<Services>() {
  return <Variables extends z.ZodObject>(
    definition: ResourceTemplateDefinition<Services, Variables>,
  ): ResourceTemplate<Services> => {
    const { variables: schema, read, watch, slashes = false, complete = {}, ...listed } = definition;
    return {
      ...listed,
      watchable: watch !== undefined,
      slashes,
      completions: new Map(
        Object.entries<Completion<Services> | undefined>(complete).flatMap(([name, one]) =>
          one ? [[name, one]] : [],
        ),
      ),
      bind(raw) {
        const { success, data } = schema.safeParse(raw);
        if (!success) return undefined;
        return {
          read: (context) => read(context, data),
          ...(watch && { watch: (context) => watch(context, data) }),
        };
      },
    };
  };
}
