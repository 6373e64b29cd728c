/** Shape of a resource. Source: CONTRIBUTING.md#add-a-tool. */

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
  /** Scope of the required role. Default: the workspace of the call. */
  readonly scope?: Scope;
  /** Returns the text of the resource; serialized for JSON. */
  read(context: CallContext<Services>): Promise<string>;
}

/** Returns the possible values of a variable. @param chosen the known values of other variables */
export type VariableCompletion<Services = never> = (
  context: CallContext<Services>,
  chosen: Readonly<Record<string, string>>,
) => Promise<readonly string[]>;

type Listed = Omit<Resource, 'uri' | 'read'>;

/** Definition of a resource template in its source file. */
interface ResourceTemplateDefinition<Services, Variables extends z.ZodObject> extends Listed {
  /** RFC 6570, level 1: `firebase://subscriptions/{subscriptionId}`. */
  readonly uriTemplate: string;
  /** Schema with one string per variable. A URI whose values do not match names no resource. */
  readonly variables: Variables;
  /** Whether truncation would make the text useless: its limit is then 1 MiB. */
  readonly returnsWhole?: true;
  /** Whether values may contain slashes that are not encoded. */
  readonly slashes?: true;
  readonly complete?: Readonly<Partial<Record<keyof z.output<Variables>, VariableCompletion<Services>>>>;
  /** @throws MusterError NOT_FOUND if the resource does not exist */
  read(context: CallContext<Services>, variables: z.output<Variables>): Promise<string>;
  /**
   * Yields after each change of the resource until `gone` of the context. Earlier changes may be repeated.
   * @throws MusterError NOT_FOUND if the resource does not exist
   */
  watch?(context: CallContext<Services>, variables: z.output<Variables>): Promise<AsyncIterable<unknown>>;
}

/** One resource of a template. */
export interface BoundResource<in Services = never> {
  read(context: CallContext<Services>): Promise<string>;
  watch?(context: CallContext<Services>): Promise<AsyncIterable<unknown>>;
}

/** A template with erased types, for the router. */
export interface ResourceTemplate<in Services = never> extends Listed {
  readonly uriTemplate: string;
  readonly returnsWhole?: true;
  readonly watchable: boolean;
  readonly slashes: boolean;
  readonly completions: ReadonlyMap<string, VariableCompletion<Services>>;
  /** @returns undefined if the variables name no resource */
  bind(variables: Readonly<Record<string, string>>): BoundResource<Services> | undefined;
}

/** Returns a function to declare the resource templates of a toolset that uses these services. */
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
        Object.entries<VariableCompletion<Services> | undefined>(complete).flatMap(([name, one]) =>
          one ? [[name, one]] : [],
        ),
      ),
      bind(raw) {
        const { success, data } = schema.safeParse(raw);
        if (!success) return undefined;
        return { read: (context) => read(context, data), ...(watch && { watch: (context) => watch(context, data) }) };
      },
    };
  };
}
