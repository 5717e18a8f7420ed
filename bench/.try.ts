import { startChild } from '/work/main/bench/process/child.ts'
import { measure, alternate, ratioOf, median } from '/work/main/bench/rounds.ts'
import { exchange, decodeHeader } from '/work/main/bench/load/exchange.ts'
import { requestText } from '/work/main/bench/load/requests.ts'
import { mkdtempSync } from 'node:fs'
const home = mkdtempSync('/tmp/assay-bench-')
const load = await startChild('load/load-process.ts')
const assay = await startChild('sides/assay.ts', { ASSAY_HOME: home, ...(process.env.PROF ? {X:''}:{}) })
const bare = await startChild('sides/bare.ts')
const port = await assay.ask<number>('port'); const bport = await bare.ask<number>('port')
const target='/v1/sandbox/echo?message=hello'
const host=`127.0.0.1:${port}`
const give = async (t:string) => { const a = await exchange(port, requestText(host,t)); await bare.ask('give',{status:a.status, headers:a.headers.filter(([n])=>!['date','connection','keep-alive'].includes(n.toLowerCase())).flat(), body:a.body}); return a }
const a = await give(target)
const req = decodeHeader<any>(a,'payment-required')
const hono = await startChild('sides/hono.ts',{ROUTE: JSON.stringify({path:'/v1/sandbox/echo',accepts:req.accepts}), SETTLE_AT: process.env.SETTLE_AT ?? '', ...(process.env.PROF ? {NODE_FLAGS:'--cpu-prof --cpu-prof-dir=/tmp/profh'}:{})})
const hport = await hono.ask<number>('port')
const run = async (name:string, sides:any[], rounds:number, shape:any) => {
  for (const s of sides) await measure(load, s, shape)
  if (process.env.PROFILE) { await sides[0].server.ask('startProfile'); for (let i=0;i<3;i++) await measure(load, sides[0], shape); await sides[0].server.ask('stopProfile', '/tmp/prof/'+name.replace(' ','-')+'.cpuprofile') }
  const r = await alternate(rounds, sides.map(s=>()=>measure(load,s,shape)))
  console.log(name); sides.forEach((s,i)=>console.log('  ',s.name, Math.round(median(r[i].map(x=>x.perSecond))),'/s', median(r[i].map(x=>x.cpuMicrosPerRequest)).toFixed(1),'us cpu'))
  for (let i=1;i<sides.length;i++) { console.log('   tput ratio vs',sides[i].name, JSON.stringify(ratioOf(r[0].map(x=>x.perSecond), r[i].map(x=>x.perSecond)))); console.log('   cpu ratio', JSON.stringify(ratioOf(r[i].map(x=>x.cpuMicrosPerRequest), r[0].map(x=>x.cpuMicrosPerRequest)))) }
}
const what = process.argv[2] ?? 'all'
const hhost=`127.0.0.1:${hport}`
if (what==='all'||what==='unpaid') await run('unpaid',[{name:'assay',server:assay,port,plan:{kind:'same',host,target},status:402},{name:'bare',server:bare,port:bport,plan:{kind:'same',host,target},status:402},{name:'hono',server:hono,port:hport,plan:{kind:'same',host:hhost,target},status:402}],6,{connections:48,secondsMax:1})
if (what==='all'||what==='free') {
  const f = '/errors/payment_required'
  await give(f)
  await run('free same',[{name:'assay',server:assay,port,plan:{kind:'same',host,target:f},status:200},{name:'bare',server:bare,port:bport,plan:{kind:'same',host,target:f},status:200}],6,{connections:48,secondsMax:1})
  const targets = ['payment_required','not_found','internal','rate_limited','bad_request'].map(c=>`/errors/${c}?ref=0x{n}`)
  await run('free fresh',[{name:'assay',server:assay,port,plan:{kind:'distinct',host,targets},status:200},{name:'bare',server:bare,port:bport,plan:{kind:'distinct',host,targets},status:200}],6,{connections:48,secondsMax:1})
}
if (what==='all'||what==='paid') {
  const h = decodeHeader<any>(await exchange(hport, requestText(hhost,target)),'payment-required')
  const count = Number(process.env.COUNT ?? 1500)
  const c = Number(process.env.CONN ?? 64)
  await run('paid',[{name:'assay',server:assay,port,plan:{kind:'paid',host,target,count,terms:{resourceUrl:req.resource.url,accepted:req.accepts[0]}},status:200},{name:'hono',server:hono,port:hport,plan:{kind:'paid',host:hhost,target,count:Math.ceil(count/4),terms:{resourceUrl:h.resource.url,accepted:h.accepts[0]}},status:200}],Number(process.env.ROUNDS ?? 5),{connections:c,secondsMax:30})
}
await Promise.all([assay,bare,hono,load].map(c=>c.stop()))
