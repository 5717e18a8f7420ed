import { jsonDepth } from '@assay/protocol/canonical-json'
import { decodeText } from './decode-text.ts'
import { refuse } from './refused.ts'

const depthMax = 32

export function readJson(bytes: Uint8Array): unknown {
  const text = decodeText(bytes, 'utf-8')
  if (jsonDepth(text) > depthMax) refuse('json', `nested more than ${depthMax} deep`)
  try {
    return JSON.parse(text)
  } catch {
    return refuse('json', 'this is not JSON, or it is cut off')
  }
}
