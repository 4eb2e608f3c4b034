import pytest

from dynrnn.tf1.summary.naming import clean_name, summary_scope


@pytest.mark.parametrize(
    ("name", "expected"),
    [("loss", "loss"), ("a/b.c-d_e", "a/b.c-d_e"), ("my loss", "my_loss"), ("lo:ss$", "lo_ss_"), ("//loss", "loss")],
)
def test_what_no_name_may_hold_becomes_an_underscore(name, expected):
    assert clean_name(name) == expected


def test_a_name_is_a_string():
    with pytest.raises(TypeError, match="name must be a string, got 3"):
        clean_name(3)


def test_a_tag_is_the_scope_behind_the_family():
    with summary_scope("loss", "f g", []) as (tag, scope):
        assert (tag, scope) == ("f_g/f_g/loss", "f_g/loss/")
    with summary_scope("loss", None, []) as (tag, scope):
        assert (tag, scope) == ("loss", "loss/")
