/** Definition of a resource. Source: CONTRIBUTING.md#add-a-tool. */
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
  /** Returns the content of the resource as text, for example as JSON. */
  read(context: CallContext<Services>): Promise<string>;
}

/** Returns possible values of a variable. @param chosen values of the other variables that are already known */
export type VariableCompletion<Services = never> = (
  context: CallContext<Services>,
  chosen: Readonly<Record<string, string>>,
) => Promise<readonly string[]>;

type Listed = Omit<Resource, 'uri' | 'read'>;

interface ResourceTemplateDefinition<Services, Variables extends z.ZodObject> extends Listed {
  /** URI template (RFC 6570, level 1), such as `firebase://subscriptions/{subscriptionId}`. */
  readonly uriTemplate: string;
  /** Schema with a string per variable. If a URI's values do not match it, the resource does not exist. */
  readonly variables: Variables;
  /** Whether a part of the text would be useless. The whole text may then have up to 1 MiB. */
  readonly returnsWhole?: true;
  /** Whether values of variables may contain slashes that are not percent-encoded. */
  readonly slashes?: true;
  readonly complete?: Readonly<Partial<Record<keyof z.output<Variables>, VariableCompletion<Services>>>>;
  /** @throws MusterError NOT_FOUND if the resource does not exist */
  read(context: CallContext<Services>, variables: z.output<Variables>): Promise<string>;
  /**
   * Yields after each change, until the context's `disconnectSignal` fires. May also yield for earlier changes.
   * @throws MusterError NOT_FOUND if the resource does not exist
   */
  watch?(context: CallContext<Services>, variables: z.output<Variables>): Promise<AsyncIterable<unknown>>;
}

/** A resource that a template describes, with the values of its variables. */
export interface BoundResource<in Services = never> {
  read(context: CallContext<Services>): Promise<string>;
  watch?(context: CallContext<Services>): Promise<AsyncIterable<unknown>>;
}

/** A resource template without the types of its variables, for use by the server. */
export interface ResourceTemplate<in Services = never> extends Listed {
  readonly uriTemplate: string;
  readonly returnsWhole?: true;
  readonly watchable: boolean;
  readonly slashes: boolean;
  readonly completions: ReadonlyMap<string, VariableCompletion<Services>>;
  /** @returns undefined if no resource can have these variables */
  bind(variables: Readonly<Record<string, string>>): BoundResource<Services> | undefined;
}

/** Returns the function with which a toolset declares resource templates. `Services`: the services of the toolset. */
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
