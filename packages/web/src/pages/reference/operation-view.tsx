import { useEffect, useRef } from 'preact/hooks'
import { useNode } from '../../node/context.ts'
import { Badge, CopyButton, Json, Scroll } from '../../ui/parts.tsx'
import { exampleOf, type OpenApi, type Operation, resolve, type Schema, typeText } from './operations.ts'

export function OperationView({ operation, document }: { operation: Operation; document: OpenApi }) {
  const { raw, method, path, price } = operation
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => heading.current?.focus({ preventScroll: true }), [])
  const body = Object.entries(raw.requestBody?.content ?? {})[0]
  const answers = Object.entries(raw.responses ?? {})
  return (
    <article class="stack" aria-labelledby="operation">
      <div class="stack tight">
        <h2 id="operation" ref={heading} tabIndex={-1}>
          {operation.summary}
        </h2>
        <p class="row">
          <span class={`method ${method}`}>{method.toUpperCase()}</span>
          <code>{path}</code>
          <Badge tone={price === undefined ? 'good' : 'gold'}>{price ?? 'free'}</Badge>
          {raw.security
            ?.flatMap((scheme) => Object.keys(scheme))
            .map((name) => (
              <Badge key={name} tone="calm">
                proof: {name}
              </Badge>
            ))}
        </p>
        {raw.description === undefined ? null : <p class="soft">{raw.description}</p>}
      </div>
      <Curl operation={operation} example={exampleOf(body?.[1])} />
      {raw.parameters === undefined || raw.parameters.length === 0 ? null : (
        <section class="stack tight">
          <h3>Parameters</h3>
          <dl class="facts">
            {raw.parameters
              .map((given) => resolve(given, document))
              .map((parameter) => [
                <dt key={parameter.name}>
                  <code>{parameter.name}</code>
                </dt>,
                <dd key={`${parameter.name} meaning`}>
                  <span class="small soft">
                    {parameter.in}
                    {parameter.required ? ', required' : ''}, {typeText(parameter.schema ?? {})}
                  </span>{' '}
                  {parameter.description}
                </dd>,
              ])}
          </dl>
        </section>
      )}
      {body === undefined ? null : (
        <section class="stack tight">
          <h3>Body</h3>
          <Fields schema={resolve(body[1].schema ?? {}, document)} document={document} />
        </section>
      )}
      <section class="stack tight">
        <h3>Answers</h3>
        {answers.map(([status, given]) => {
          const answer = resolve(given, document)
          const media = Object.entries(answer.content ?? {})[0]
          const example = exampleOf(media?.[1])
          return (
            <details key={status} open={status === '200'}>
              <summary>
                {status} <span class="soft">{answer.description}</span>
              </summary>
              <div class="stack tight">
                {media?.[1].schema === undefined ? null : (
                  <Fields schema={resolve(media[1].schema, document)} document={document} />
                )}
                {example === undefined ? null : <Json value={example} />}
              </div>
            </details>
          )
        })}
      </section>
    </article>
  )
}

function Curl({ operation, example }: { operation: Operation; example: unknown }) {
  const index = useNode()
  const url = `${index.base_url}${operation.path}`
  const data = example === undefined ? '' : ` -H 'content-type: application/json' -d '${JSON.stringify(example)}'`
  const command =
    operation.price === undefined
      ? `curl${operation.method === 'get' ? '' : ` -X ${operation.method.toUpperCase()}`}${data} '${url}'`
      : `npx assay buy '${url}'${operation.method === 'get' ? '' : ` -X ${operation.method.toUpperCase()}`}`
  return (
    <div class="row command">
      <code>{command}</code>
      <CopyButton text={command} what="command" />
    </div>
  )
}

function Fields({ schema, document }: { schema: Schema; document: OpenApi }) {
  const fields = Object.entries(schema.properties ?? {})
  if (fields.length === 0) return <p class="small soft">{typeText(schema)}</p>
  return (
    <Scroll label="Fields">
      <table class="fields">
        <tbody>
          {fields.map(([name, field]) => {
            const known = resolve(field, document)
            return (
              <tr key={name}>
                <th scope="row">
                  <code>{name}</code>
                  {schema.required?.includes(name) ? null : <span class="small soft"> optional</span>}
                </th>
                <td class="small">{typeText(known)}</td>
                <td class="small soft">{field.description ?? known.description}</td>
              </tr>
            )
          })}
        </tbody>
      </table>
    </Scroll>
  )
}
