import { useState } from 'preact/hooks'
import { useNode } from '../../node/context.ts'
import { asProblem, type ProblemError } from '../../node/problem.ts'
import { useAnswer } from '../../node/use-answer.ts'
import { Await, Problem, saveFile } from '../../ui/parts.tsx'

/** All since the subscription began as files by day: every event as it was signed. */
export function Backfill({ token }: { token: string }) {
  const index = useNode()
  const [problem, setProblem] = useState<ProblemError>()
  const reading = () => import('./follow.ts').then(({ openIntents }) => openIntents(index))
  const [files] = useAnswer(token, async () => (await (await reading()).files(token)).data)
  const save = async (file: string) => {
    setProblem(undefined)
    try {
      saveFile(`intents-${file}.ndjson`, await (await reading()).file(token, file), 'application/x-ndjson')
    } catch (error) {
      setProblem(asProblem(error))
    }
  }
  return (
    <Await of={files} what="Reading the files">
      {(rows) => (
        <div class="stack">
          <h3>Files</h3>
          <div class="row">
            {rows.map(({ file, events }) => (
              <button key={file} type="button" class="button small" onClick={() => save(file)}>
                {file}, {events} events
              </button>
            ))}
          </div>
          {problem === undefined ? null : <Problem problem={problem} />}
        </div>
      )}
    </Await>
  )
}
