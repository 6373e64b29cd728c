/** Shows an error instead of a part that fails to render, so that the rest of the page stays usable. */
import type { ComponentChildren } from 'preact';
import { useErrorBoundary } from 'preact/hooks';
import { common } from '../../text/common.ts';
import { Icon } from '../../ui/Icon.tsx';

export function Boundary({ children }: { readonly children: ComponentChildren }) {
  const [error, tryAgain] = useErrorBoundary((thrown: unknown) => console.error(thrown));
  if (error === undefined) return <>{children}</>;
  return (
    <p class="notice bad" role="alert">
      <Icon of="warn" />
      <span>
        {common.brokenPart}{' '}
        <button type="button" class="b small" onClick={tryAgain}>
          {common.tryAgain}
        </button>
      </span>
    </p>
  );
}
