"""How the zinx that has the change is made."""

from __future__ import annotations

import unittest

from comparison.peers import PROGRAMS, SOURCES, BuildError, replace_methods

RELEASE = """\
package znet

func (c *Connection) Start() {
\tif true {
\t}
}

func (c *Connection) Stop() {
}
"""


class ReplaceMethods(unittest.TestCase):
    def test_only_the_named_method_changes(self) -> None:
        patch = 'package znet\n\nimport "x"\n\nfunc (c *Connection) Start() {\n\tmine()\n}\n'
        expected = RELEASE.replace("\tif true {\n\t}\n", "\tmine()\n")
        self.assertEqual(replace_methods(RELEASE, patch), expected)

    def test_a_method_that_is_not_there(self) -> None:
        with self.assertRaisesRegex(BuildError, "no method Pause"):
            replace_methods(RELEASE, "func (c *Connection) Pause() {\n}\n")

    def test_every_patch_is_there(self) -> None:
        for folder, patches in PROGRAMS.values():
            self.assertTrue((SOURCES / folder / "go.sum").exists())
            for patch in patches:
                self.assertTrue((SOURCES / folder / "patch" / patch).exists(), patch)


if __name__ == "__main__":
    unittest.main()
