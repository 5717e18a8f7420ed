import { useState } from 'preact/hooks'
import type { PageProps } from '../../app/pages.ts'
import { linkTo } from '../../app/route.ts'
import { ask } from '../../node/ask.ts'
import { useNode } from '../../node/context.ts'
import { useAnswer } from '../../node/use-answer.ts'
import { Await, PageHead } from '../../ui/parts.tsx'
import { OperationView } from './operation-view.tsx'
import { type OpenApi, type Operation, operationsOf, tagsOf } from './operations.ts'

/** The OpenAPI document of this node, to read: nothing is loaded from elsewhere. */
export function ReferencePage({ route }: PageProps) {
  const index = useNode()
  const [document, again] = useAnswer('openapi', (signal) =>
    ask<OpenApi>(`${index.base_url}/openapi/full.json`, { signal }),
  )
  return (
    <>
      <PageHead title="Reference">
        <p class="lead">Every route of this node, made from the document programs read.</p>
        <p class="row">
          <a href="/openapi.json">openapi.json</a> <a href="/llms.txt">llms.txt</a> <a href="/errors">error codes</a>{' '}
          <a href="/.well-known/x402">x402 manifest</a>
        </p>
      </PageHead>
      <Await of={document} what="Reading the document" again={again}>
        {({ body }) => <Operations document={body} open={route.rest[0]} />}
      </Await>
    </>
  )
}

function Operations({ document, open }: { document: OpenApi; open: string | undefined }) {
  const [filter, setFilter] = useState('')
  const operations = operationsOf(document)
  const wanted = filter.trim().toLowerCase()
  const shown = operations.filter(({ id, path, summary }) => `${id} ${path} ${summary}`.toLowerCase().includes(wanted))
  const chosen = operations.find(({ id }) => id === open)
  return (
    <div class="reference">
      <nav aria-label="Routes" class="stack">
        <input
          aria-label="Filter the routes"
          placeholder={`Filter ${operations.length} routes`}
          value={filter}
          onInput={(event) => setFilter(event.currentTarget.value)}
        />
        {tagsOf(shown).map(([tag, list]) => (
          <section key={tag}>
            <h2>{tag}</h2>
            <ul>
              {list.map((operation) => (
                <li key={operation.id}>
                  <a
                    href={linkTo('reference', [operation.id])}
                    aria-current={operation.id === open ? 'true' : undefined}
                  >
                    <RouteName operation={operation} />
                  </a>
                </li>
              ))}
            </ul>
          </section>
        ))}
      </nav>
      {chosen === undefined ? (
        <p class="soft">Choose a route to see its parameters, answers and price.</p>
      ) : (
        <OperationView key={chosen.id} operation={chosen} document={document} />
      )}
    </div>
  )
}

function RouteName({ operation }: { operation: Operation }) {
  return (
    <>
      <span class={`method ${operation.method}`}>{operation.method.toUpperCase()}</span>
      <span class="mono">{operation.path}</span>
      {operation.price === undefined ? null : <span class="soft small">{operation.price}</span>}
    </>
  )
}
