/** Parts of the page that are loaded when first shown. */
import { signal } from '@preact/signals';
import type { ComponentType } from 'preact';
import { Absent } from './Notice.tsx';

/** @param load a dynamic import, which the build puts into a separate file */
export function lazy<Props extends object>(load: () => Promise<ComponentType<Props>>): ComponentType<Props> {
  const loaded = signal<ComponentType<Props> | undefined>(undefined);
  const trouble = signal<string | undefined>(undefined);
  let isAsked = false;
  return function Lazy(props: Props) {
    if (!isAsked) {
      isAsked = true;
      load().then(
        (component) => (loaded.value = component),
        () => {
          // The load may have failed because a newer version replaced the file. Then the page must be reloaded.
          isAsked = false;
          trouble.value = 'its code could not be loaded. Reload the page.';
        },
      );
    }
    const Loaded = loaded.value;
    if (Loaded !== undefined) return <Loaded {...props} />;
    return trouble.value === undefined ? (
      <Absent live={{ state: 'loading' }} />
    ) : (
      <Absent live={{ state: 'failed', why: trouble.value }} />
    );
  };
}
