"""The look of the HTML page, and the few lines that filter it."""

from __future__ import annotations

STYLE = """
:root{color-scheme:light dark;--bg:#f6f7f9;--card:#fff;--ink:#1b1f24;--dim:#5b6570;--line:#dfe3e8;
--soft:#f0f2f5;--pass:#1a7f4b;--passbg:#dcf3e5;--fail:#c0283a;--failbg:#fde4e6;--error:#8f5a00;
--errorbg:#fcedcf;--skipped:#5b6570;--skippedbg:#e7eaee;--link:#2459c4;--amber:#d99a2b}
@media(prefers-color-scheme:dark){:root{--bg:#101419;--card:#181d24;--ink:#e4e8ed;--dim:#97a3b0;
--line:#2b323b;--soft:#20262e;--pass:#5ad18f;--passbg:#14361f;--fail:#ff8088;--failbg:#46191f;
--error:#f0b95a;--errorbg:#40300f;--skipped:#97a3b0;--skippedbg:#2a3038;--link:#86aeff}}
*{box-sizing:border-box}
body{margin:0;background:var(--bg);color:var(--ink);font:14px/1.5 system-ui,-apple-system,
"Segoe UI",Roboto,"Noto Sans","DejaVu Sans",sans-serif}
main{max-width:1320px;margin:0 auto;padding:28px 24px 64px}
h1{font-size:22px;line-height:1.3;margin:0 0 2px;overflow-wrap:anywhere}
h2{font-size:15px;margin:30px 0 10px}
h3{font-size:11px;font-weight:600;letter-spacing:.06em;text-transform:uppercase;color:var(--dim);
margin:18px 0 6px}
.dim{color:var(--dim)}.num{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
.card{background:var(--card);border:1px solid var(--line);border-radius:10px}
.top{padding:20px 22px;margin-top:18px;display:grid;grid-template-columns:auto 1fr;gap:8px 36px;
align-items:center}
.rate{font-size:42px;line-height:1;font-weight:650;font-variant-numeric:tabular-nums}
.rate small{display:block;font-size:13px;font-weight:400;color:var(--dim);margin-top:7px}
.bar{display:block;width:100%;height:12px;border-radius:6px;background:var(--soft)}
rect.pass{fill:var(--pass)}rect.fail{fill:var(--fail)}rect.error{fill:var(--amber)}
rect.skipped{fill:var(--skipped)}
.legend{display:flex;flex-wrap:wrap;gap:4px 20px;margin-top:9px}
.legend b{font-variant-numeric:tabular-nums}
.legend span::before{content:"";display:inline-block;width:9px;height:9px;border-radius:3px;
margin-right:7px;background:currentColor}
.legend .pass{color:var(--pass)}.legend .fail{color:var(--fail)}.legend .error{color:var(--amber)}
.legend .skipped{color:var(--skipped)}.legend b,.legend i{color:var(--ink);font-style:normal}
.facts{display:grid;grid-template-columns:minmax(74px,max-content) 1fr;gap:3px 18px;margin:16px 0 0;
padding:14px 0 0;border-top:1px solid var(--line);grid-column:1/-1}
.body .facts{border:0;padding:0;margin:0}
.facts dt{color:var(--dim);max-width:260px;overflow-wrap:anywhere}
.facts dd{margin:0;overflow-wrap:anywhere}
table{border-collapse:collapse;width:100%}
th{font-size:11px;font-weight:600;letter-spacing:.04em;text-transform:uppercase;color:var(--dim);
text-align:left;padding:7px 10px;white-space:nowrap}th.num{text-align:right}
th.name{text-transform:none;letter-spacing:0}
td{padding:7px 10px;border-top:1px solid var(--line);vertical-align:top;overflow-wrap:anywhere}
.scroll{overflow-x:auto}.card.scroll td:nth-child(-n+2){min-width:130px}
.tools{display:flex;flex-wrap:wrap;gap:10px;align-items:center;margin:0 0 10px}
.tools[hidden]{display:none}
.tools button{font:inherit;color:inherit;background:var(--card);border:1px solid var(--line);
padding:5px 13px;margin-left:-1px;cursor:pointer}
.tools button:first-child{border-radius:8px 0 0 8px;margin:0}
.tools button:last-child{border-radius:0 8px 8px 0}
.tools button[aria-pressed=true]{background:var(--ink);border-color:var(--ink);color:var(--card)}
.shown:empty{display:none}
.tools input{font:inherit;color:inherit;background:var(--card);border:1px solid var(--line);
border-radius:8px;padding:5px 12px;flex:1 1 220px;min-width:0}
:focus-visible{outline:2px solid var(--link);outline-offset:1px}
.list{overflow:hidden}
.line{display:grid;grid-template-columns:18px 74px minmax(90px,1.1fr) minmax(90px,1.3fr)
minmax(120px,2fr) 56px;gap:14px;padding:10px 16px;align-items:start}
.several .line{grid-template-columns:18px 74px minmax(90px,1.1fr) minmax(90px,1fr)
minmax(90px,1.3fr) minmax(120px,2fr) 56px}
.head{font-size:11px;font-weight:600;letter-spacing:.04em;text-transform:uppercase;color:var(--dim)}
details.r{border-top:1px solid var(--line);content-visibility:auto;contain-intrinsic-size:auto 64px}
details.r[hidden]{display:none}
summary{cursor:pointer;list-style:none}summary::-webkit-details-marker{display:none}
.r>summary:hover,.r[open]>summary{background:var(--soft)}
.r>summary::before{content:"";width:7px;height:7px;margin:7px 0 0 3px;border:solid var(--dim);
border-width:0 1.7px 1.7px 0;transform:rotate(-45deg)}
.r[open]>summary::before{transform:rotate(45deg)}
.clip{display:-webkit-box;-webkit-box-orient:vertical;-webkit-line-clamp:3;overflow:hidden;
overflow-wrap:anywhere;min-width:0}
.why{color:var(--dim)}.two .clip{-webkit-line-clamp:2}.two .clip+.why{margin-top:2px}
.two{min-width:0}
.badge{display:inline-block;font-size:12px;font-weight:600;line-height:1;padding:5px 9px;
border-radius:99px;white-space:nowrap}
.badge.pass{color:var(--pass);background:var(--passbg)}
.badge.fail{color:var(--fail);background:var(--failbg)}
.badge.error{color:var(--error);background:var(--errorbg)}
.badge.skipped{color:var(--skipped);background:var(--skippedbg)}
.body{padding:2px 24px 24px 48px;border-top:1px solid var(--line)}
.note{border-left:3px solid var(--line);padding:4px 12px;margin:14px 0 0;white-space:pre-wrap;
overflow-wrap:anywhere}
.note.fail{border-color:var(--fail)}.note.error{border-color:var(--error)}
pre{font:12.5px/1.55 ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;
margin:0;padding:10px 13px;background:var(--soft);border-radius:8px;white-space:pre-wrap;
overflow-wrap:anywhere;max-height:420px;overflow:auto}
pre+pre{margin-top:5px}
.pairs{display:grid;grid-template-columns:minmax(70px,max-content) 1fr;gap:6px 14px;
align-items:start}
.pairs>b{font-weight:500;color:var(--dim);padding-top:9px;overflow-wrap:anywhere;max-width:180px}
.more>summary{color:var(--link);margin-top:16px;width:max-content}
.a{border:1px solid var(--line);border-radius:8px;padding:11px 14px;margin-top:8px}
.a .a{background:none}
.a.fail{border-left:3px solid var(--fail)}.a.error{border-left:3px solid var(--error)}
.a.pass{border-left:3px solid var(--pass)}.a.skipped{border-left:3px solid var(--skipped)}
.ahead{display:flex;flex-wrap:wrap;gap:4px 12px;align-items:center}
.ahead b{overflow-wrap:anywhere}.ahead .num{margin-left:auto;white-space:normal}
.reason{margin-top:6px;white-space:pre-wrap;overflow-wrap:anywhere}
.claims{margin-top:9px}.claims td{font-size:13px}.claims tr.bad td:first-child{
box-shadow:inset 3px 0 var(--fail)}
q{quotes:"\\201C" "\\201D"}
.v{white-space:nowrap;font-weight:600}.v.entailed{color:var(--pass)}.v.contradicted{color:var(--fail)}
.claims .yes{color:var(--pass)}.claims .no{color:var(--fail);font-weight:600}
.v.neutral{color:var(--error)}.v.unknown{color:var(--dim)}
.figures{display:flex;flex-wrap:wrap;gap:2px 18px;margin-top:8px;color:var(--dim)}
.figures b{color:var(--ink);font-weight:500;font-variant-numeric:tabular-nums}
.cut{color:var(--error)}.none{padding:26px;text-align:center;color:var(--dim)}.none[hidden]{display:none}
@media(max-width:760px){main{padding:16px 12px 40px}.top{grid-template-columns:1fr}
.head{display:none}
.line,.several .line{grid-template-columns:18px 1fr auto;gap:4px 10px}.line>*{grid-column:2/-1}
.line>.st{grid-column:2}.line>.sc{grid-column:3;grid-row:1}.body{padding:2px 14px 18px}}
@media print{.tools{display:none}.card,.a{break-inside:avoid}details.r{content-visibility:visible}}
"""

SCRIPT = """
(() => {
  const rows = [...document.querySelectorAll('details.r')];
  const tools = document.querySelector('.tools');
  const buttons = [...tools.querySelectorAll('button')];
  const box = tools.querySelector('input');
  const shown = tools.querySelector('.shown');
  const none = document.querySelector('.none');
  const texts = new Map();
  let wanted = 'all';
  let timer = 0;
  const text = (row) => {
    if (!texts.has(row)) texts.set(row, row.textContent.toLowerCase());
    return texts.get(row);
  };
  const apply = () => {
    const words = box.value.toLowerCase().split(' ').filter(Boolean);
    let count = 0;
    for (const row of rows) {
      const keep = (wanted === 'all' || row.dataset.s === wanted)
        && words.every((word) => text(row).includes(word));
      row.hidden = !keep;
      count += keep;
    }
    shown.textContent = count === rows.length ? '' : count + ' of ' + rows.length;
    none.hidden = count > 0;
  };
  for (const button of buttons) button.addEventListener('click', () => {
    wanted = button.dataset.s;
    for (const one of buttons) one.setAttribute('aria-pressed', String(one === button));
    apply();
  });
  box.addEventListener('input', () => {
    clearTimeout(timer);
    timer = setTimeout(apply, 120);
  });
  tools.hidden = false;
})();
"""
