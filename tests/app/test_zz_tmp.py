from tests.app.test_rule_sets_page import *
from tests.app.test_rule_sets_page import talk, space
from pathlib import Path
def test_x(space):
    talk(space)
    at=visit(space)
    at.selectbox(key=f"train-{space.draft()['id']}").select("text").run()
    for p in sorted(Path('app/views').glob('*.py')):
        if p.stem.startswith('__'): continue
        try:
            at.switch_page(f'views/{p.name}').run()
        except Exception as e:
            print(p.stem,'SKIP',str(e)[:80]); continue
        t=texts(at)
        print(p.stem, [e.value[:100] for e in at.exception], [x[:140] for x in t if 'broke' in x or 'must' in x or 'needs' in x or 'Choose' in x])
