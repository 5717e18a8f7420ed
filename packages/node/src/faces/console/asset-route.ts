import { Problem } from '@assay/till/kernel/problem'
import { z } from 'zod'
import { defineRoute, type RouteDeclaration } from '../../http/index.ts'
import type { Assets, Encoding } from './assets.ts'

/** Scripts and styles of the console. Their names change with their content, so anyone who has one may keep it. */
export function assetRoute(load: () => Promise<Assets>): RouteDeclaration {
  return defineRoute({
    id: 'console.asset',
    area: 'core',
    method: 'GET',
    path: '/console/:file',
    summary: 'A script or style of the console',
    params: z.strictObject({ file: z.string().max(100) }),
    representations: ['text/javascript; charset=utf-8', 'text/css; charset=utf-8', 'text/plain; charset=utf-8'],
    output: z.string(),
    example: { params: { file: 'console-ABCDEFGH.js' }, output: '' },
    next: '/',
    hidden: true,
    immutable: true,
    access: {
      kind: 'free',
      handle: async (input, call) => {
        const asset = (await load()).find(String(input.params.file))
        if (!asset) throw new Problem('not_found', { detail: 'No such file of the console; reload the page.' })
        const encoding = encodingFor(call.headers.get('accept-encoding'))
        return {
          status: 200,
          contentType: asset.contentType,
          body: asset.bodies[encoding],
          headers: {
            Vary: 'Accept-Encoding',
            'Cross-Origin-Resource-Policy': 'same-origin',
            ...(encoding === 'identity' ? {} : { 'Content-Encoding': encoding }),
          },
        }
      },
    },
  })
}

/** The smallest coding the caller takes; one with `q=0` is none it takes. */
export function encodingFor(accepted: string | undefined): Encoding {
  const taken = new Set(
    (accepted ?? '')
      .toLowerCase()
      .split(',')
      .map((part) => part.split(';').map((text) => text.trim()))
      .filter(([, ...parameters]) => !parameters.some((parameter) => /^q=0(?:\.0*)?$/.test(parameter)))
      .map(([name]) => name),
  )
  if (taken.has('br')) return 'br'
  return taken.has('gzip') ? 'gzip' : 'identity'
}
