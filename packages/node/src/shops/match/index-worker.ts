// The thread that holds the index: building and searching never hold up the requests of the others.
import { parentPort } from 'node:worker_threads'
import { createMatchIndex } from './match-index.ts'
import { readQuery } from './read-query.ts'
import { openSegmentFolder, type SegmentFolder } from './segment-folder.ts'
import type { Answer, Opened, Question } from './worker-messages.ts'

const index = createMatchIndex()
let folder: SegmentFolder | undefined
let training: Generator<undefined, void> | undefined

/** A slice between any two questions, until the latent space is learnt. */
function trainInSlices(): void {
  if (training || !index.wantsTraining()) return
  training = index.train()
  const slice = () => {
    if (training?.next().done !== true) setImmediate(slice)
    else {
      training = undefined
      trainInSlices()
    }
  }
  setImmediate(slice)
}

function answer(question: Question): Answer['result'] {
  switch (question.kind) {
    case 'search':
      return index.search(readQuery(question.query), question.filters, question.limit)
    case 'add':
      index.add(question.docs)
      folder?.keep(index.segments())
      trainInSlices()
      return undefined
    case 'open':
      return openFolder(question.folder)
    case 'scores':
      index.setScores(question.scores)
      return undefined
    case 'size':
      return { docs: index.docCount(), segments: index.segments().length }
  }
}

function openFolder(path: string): Opened {
  folder = openSegmentFolder(path)
  for (const segment of folder.load()) index.adopt(segment)
  trainInSlices()
  return { indexedTo: index.segments().at(-1)?.pageIds.at(-1) ?? 0 }
}

parentPort?.on('message', (question: Question & { id: number }) => {
  try {
    parentPort?.postMessage({ id: question.id, result: answer(question) } satisfies Answer)
  } catch (error) {
    parentPort?.postMessage({ id: question.id, error: String(error) } satisfies Answer)
  }
})
