/** Parts of the page that are loaded when first shown. */
import { signal } from '@preact/signals';
import type { ComponentType } from 'preact';
import { common } from '../../text/common.ts';
import { Bones } from './Bones.tsx';

/** @param load a dynamic import, which the build puts into a separate file */
export function lazy<Props extends object>(load: () => Promise<ComponentType<Props>>): ComponentType<Props> {
  const loaded = signal<ComponentType<Props> | undefined>(undefined);
  const hasFailed = signal(false);
  let isAsked = false;
  return function Lazy(props: Props) {
    if (!isAsked) {
      isAsked = true;
      load().then(
        (component) => (loaded.value = component),
        () => {
          // The load may have failed because a newer version replaced the file. Then the page must be reloaded.
          isAsked = false;
          hasFailed.value = true;
        },
      );
    }
    const Loaded = loaded.value;
    if (Loaded !== undefined) return <Loaded {...props} />;
    if (!hasFailed.value) return <Bones />;
    return (
      <p class="notice bad" role="alert">
        <span>
          {common.partNotLoaded}{' '}
          <button type="button" class="b small" onClick={() => (hasFailed.value = false)}>
            {common.tryAgain}
          </button>
        </span>
      </p>
    );
  };
}
