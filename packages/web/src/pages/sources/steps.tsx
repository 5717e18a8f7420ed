import type { Source } from '@assay/sdk'
import { sentence } from '../../ui/format.ts'
import { DoneIcon } from '../../ui/icons.tsx'

/** How far a source has come, and what to do next, in the node's own words. */
export function Steps({ source }: { source: Source }) {
  return (
    <section class="sheet" aria-labelledby="steps">
      <h2 id="steps">Steps</h2>
      <ol class="steps">
        {source.next_steps.map(({ step, state, fix }) => (
          <li key={step} class={state}>
            <i aria-hidden="true">{state === 'done' ? <DoneIcon /> : null}</i>
            <div>
              <b>{sentence(step)}</b> <span class="small soft">{state}</span>
              <p>{fix}</p>
            </div>
          </li>
        ))}
      </ol>
    </section>
  )
}
