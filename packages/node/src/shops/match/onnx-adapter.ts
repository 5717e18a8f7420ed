import { readFile } from 'node:fs/promises'
import type { Reranker } from './rerank.ts'
import type { RerankSettings } from './settings.ts'
import { createWordPieces } from './word-pieces.ts'

/** What is used of onnxruntime-node, which the operator installs. */
export type OnnxRuntime = {
  InferenceSession: { create(path: string): Promise<OnnxSession> }
  Tensor: new (type: 'int64', data: BigInt64Array, dims: readonly number[]) => unknown
}
type OnnxSession = {
  readonly inputNames: readonly string[]
  readonly outputNames: readonly string[]
  run(inputs: Record<string, unknown>): Promise<Record<string, { data: Float32Array; dims: readonly number[] }>>
}

const packageName = 'onnxruntime-node'
const piecesMax = 256

export const loadOnnxRuntime = async (): Promise<OnnxRuntime> => {
  try {
    // Named by a value: the package is installed by those who want it.
    return (await import(packageName)) as OnnxRuntime
  } catch (cause) {
    throw new Error(`MATCH names a re-ranker, which needs the package ${packageName}: npm install ${packageName}`, {
      cause,
    })
  }
}

/** A cross-encoder of the BERT family in ONNX form, with its `vocab.txt`. */
export async function openOnnxReranker(settings: RerankSettings, runtime: OnnxRuntime): Promise<Reranker> {
  const encode = createWordPieces(await readFile(settings.vocabulary, 'utf8'))
  const session = await runtime.InferenceSession.create(settings.model)
  return {
    pages: settings.pages,
    score: async (question, passages) => {
      if (passages.length === 0) return []
      const encoded = passages.map((passage) => encode(question, passage, piecesMax))
      const width = Math.max(...encoded.map(({ ids }) => ids.length))
      const tensor = (of: (at: number, place: number) => number) => {
        const data = new BigInt64Array(encoded.length * width)
        for (let at = 0; at < encoded.length; at += 1)
          for (let place = 0; place < width; place += 1) data[at * width + place] = BigInt(of(at, place))
        return new runtime.Tensor('int64', data, [encoded.length, width])
      }
      const inputs: Record<string, unknown> = {
        input_ids: tensor((at, place) => encoded[at]?.ids[place] ?? 0),
        attention_mask: tensor((at, place) => (place < (encoded[at]?.ids.length ?? 0) ? 1 : 0)),
        token_type_ids: tensor((at, place) => encoded[at]?.types[place] ?? 0),
      }
      const known = Object.fromEntries(Object.entries(inputs).filter(([name]) => session.inputNames.includes(name)))
      const output = (await session.run(known))[session.outputNames[0] as string]
      const columns = (output?.data.length ?? 0) / encoded.length
      // Of two classes the second says that the passage answers.
      return encoded.map((_, at) => output?.data[at * columns + columns - 1] ?? Number.NaN)
    },
  }
}
